/// One part of the contract and how it is checked.
struct Promise: Sendable {
  let name: String
  let needsPersistence: Bool
  let needsSeveralStores: Bool
  let check: @Sendable (Session) throws -> Void

  init(
    _ name: String, needsPersistence: Bool = false, needsSeveralStores: Bool = false,
    check: @escaping @Sendable (Session) throws -> Void
  ) {
    self.name = name
    self.needsPersistence = needsPersistence
    self.needsSeveralStores = needsSeveralStores
    self.check = check
  }
}
