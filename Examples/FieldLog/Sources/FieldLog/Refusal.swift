import CoreData

/// A command cannot be performed.
struct Refusal: LocalizedError {
  let reason: String

  var errorDescription: String? { reason }
}
