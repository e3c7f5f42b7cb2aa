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

    /// The name of a statement; nil if it is not prepared.
    func name(of statement: Statement) -> String? { names[Key(statement)] }

    /// What has to be sent before a statement. The statement has a name then, unless it is not prepared.
    mutating func changes(for statement: Statement) -> [Change] {
      let key = Key(statement)
      var changes: [Change] = []
      switch statement.preparation {
      case .once: return []
      case .always: break
      case .recent:
        guard key.text.utf8.count <= Self.longestText else { return [] }
        if let place = recent.lastIndex(of: key) {
          recent.remove(at: place)
        } else if recent.count == Self.mostRecent, let name = names.removeValue(forKey: recent.removeFirst()) {
          changes.append(.removal(name: name))
        }
        recent.append(key)
      }
      if names[key] == nil {
        let name = "s\(count)"
        count += 1
        names[key] = name
        changes.append(.preparation(key, name: name))
      }
      return changes
    }

    /// Forgets a statement that the server has not prepared.
    mutating func forget(_ key: Key) {
      names[key] = nil
      recent.removeAll { $0 == key }
    }
  }
#endif
