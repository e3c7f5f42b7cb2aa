#if PostgreSQL
  /// The statements that the server has prepared on a connection.
  struct PreparedStatements {
    /// What tells statements apart: the server reads parameters by their types.
    struct Key: Hashable {
      let text: String
      let types: [UInt32]

      init(_ statement: Statement) { (text, types) = (statement.text, statement.parameters.types) }
    }

    /// What is sent before a statement.
    enum Change {
      case preparation(Key, name: String)
      case removal(name: String)
    }

    /// How many statements are kept of those that are kept while they are recent.
    static let mostRecent = 32
    /// Longer texts are likely to be those of a single request.
    private static let longestText = 8192

    private var names: [Key: String] = [:]
    /// Those that are kept while they are recent, the last one at the end.
    private var recent: [Key] = []
    private var count = 0

    /// The name of a statement that is to be run, nil if its text is sent, and what has to be sent before.
    mutating func use(_ statement: Statement) -> (name: String?, changes: [Change]) {
      if case .once = statement.preparation { return (nil, []) }
      let key = Key(statement)
      var changes: [Change] = []
      if case .recent = statement.preparation {
        guard key.text.utf8.count <= Self.longestText else { return (nil, []) }
        if let place = recent.lastIndex(of: key) {
          recent.remove(at: place)
        } else if recent.count == Self.mostRecent, let name = names.removeValue(forKey: recent.removeFirst()) {
          changes.append(.removal(name: name))
        }
        recent.append(key)
      }
      if let name = names[key] { return (name, changes) }
      let name = "s\(count)"
      count += 1
      names[key] = name
      changes.append(.preparation(key, name: name))
      return (name, changes)
    }

    /// Forgets a statement that the server has not prepared.
    mutating func forget(_ key: Key) {
      names[key] = nil
      recent.removeAll { $0 == key }
    }
  }
#endif
