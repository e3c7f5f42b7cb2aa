#if HTTP
  import NIOHTTP1
  public import RemoteIncrementalStore

  extension HTTPService {
    /// The object that has the key of an insertion, as ``HTTPEntity/finding`` says.
    ///
    /// - Throws: `RemoteFailure.refused` if nothing says how objects of the entity are found;
    ///   `RemoteFailure.invalidAnswer` if the answer has objects with another key or none, since the backend does not
    ///   select by it then.
    public func record(madeBy change: RemoteChange) async throws -> RemoteRecord? {
      let (entity, path) = try collection(change.entityName)
      guard let finding = entity.finding else {
        throw RemoteFailure.refused("\(entity.name): nothing says how it is found whether the object was made")
      }
      let key = ValueWriter.key(of: change)
      let request = Request(method: .GET, url: address.url(path, [finding.parameter: key]))
      let answer = try await transport.answer(to: request).succeeded()
      guard case .array(let objects)? = try answer.json().at(entity.listKey ?? description.listKey) else {
        throw RemoteFailure.invalidAnswer("there is no array of \(entity.name)")
      }
      guard objects.allSatisfy({ $0[finding.key]?.text?.lowercased() == key }) else {
        throw RemoteFailure.invalidAnswer("\(request.name): not all objects have the key that was asked for")
      }
      var reader = RecordReader(entities)
      return try objects.first.map { try reader.record($0, entity) }
    }
  }
#endif
