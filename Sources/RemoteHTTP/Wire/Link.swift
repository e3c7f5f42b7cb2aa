#if HTTP
  /// What a header `Link` says, as in `<https://example.com/bugs?page=2>; rel="next", …`.
  enum Link {
    /// The target of the first link with a relation; nil if there is none.
    static func target(rel: String, in headers: [String]) -> String? {
      for header in headers {
        var rest = Substring(header)
        while let link = next(in: &rest) {
          if link.relations.contains(where: { $0.lowercased() == rel }) { return link.target }
        }
      }
      return nil
    }

    /// Reads a link. The target may have any character but `>`, a quoted value any but a quote.
    private static func next(in rest: inout Substring) -> (target: String, relations: [Substring])? {
      guard let start = rest.firstIndex(of: "<") else { return nil }
      rest = rest[start...].dropFirst()
      guard let end = rest.firstIndex(of: ">") else { return nil }
      let target = String(rest[..<end])
      rest = rest[end...].dropFirst()
      var relations: [Substring] = []
      while rest.trimsSpaces(), rest.first == ";" {
        rest = rest.dropFirst()
        let name = rest.take { $0 != "=" && $0 != ";" && $0 != "," }
        guard rest.first == "=" else { continue }
        rest = rest.dropFirst()
        _ = rest.trimsSpaces()
        let value: Substring
        if rest.first == "\"" {
          rest = rest.dropFirst()
          value = rest.take { $0 != "\"" }
          rest = rest.dropFirst()
        } else {
          value = rest.take { $0 != ";" && $0 != "," }
        }
        if name.filter({ $0 != " " }).lowercased() == "rel", relations.isEmpty {
          relations = value.split(separator: " ")
        }
      }
      return (target, relations)
    }
  }

  extension Substring {
    /// Removes the characters at the beginning that satisfy a condition, and returns them.
    fileprivate mutating func take(while condition: (Character) -> Bool) -> Substring {
      let taken = prefix(while: condition)
      self = self[taken.endIndex...]
      return taken
    }

    /// Removes spaces at the beginning. Always true.
    fileprivate mutating func trimsSpaces() -> Bool {
      self = drop { $0 == " " || $0 == "\t" }
      return true
    }
  }
#endif
