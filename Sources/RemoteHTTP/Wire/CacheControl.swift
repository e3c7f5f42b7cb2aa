#if HTTP
  /// What the headers `Cache-Control` and `Age` say of how long an answer stays fresh: sections 4.2 and 5.2.2
  /// of RFC 9111.
  enum CacheControl {
    /// The longest time in seconds: what is longer counts as this.
    private static let longest: Int64 = 1 << 31

    /// How long an answer stays fresh after it has come; nil if the headers do not say so.
    ///
    /// `no-store` and `no-cache`, also for single headers, say that it is not fresh at all. `private` and
    /// `must-revalidate` change nothing for a store of one account that says how old its lists are. Directives that are
    /// not known or not well-formed are left out; of several times the shortest counts.
    static func freshness(_ headers: [String], age: String?) -> Duration? {
      var shortest: Int64?
      for directive in headers.flatMap(directives) {
        switch directive.name {
        case "no-store", "no-cache": return .zero
        case "max-age":
          guard let seconds = directive.value.flatMap(seconds) else { continue }
          shortest = min(shortest ?? seconds, seconds)
        default: continue
        }
      }
      guard let shortest else { return nil }
      return .seconds(max(0, shortest - (age.flatMap(seconds) ?? 0)))
    }

    /// Digits as a number of seconds; nil for everything else.
    private static func seconds(_ text: String) -> Int64? {
      guard !text.isEmpty, text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else { return nil }
      return min(Int64(text) ?? longest, longest)
    }

    /// The directives of a header, as in `max-age=60, no-cache="Set-Cookie, Age"`: names in small letters, and values
    /// without quotes.
    private static func directives(_ header: String) -> [(name: String, value: String?)] {
      divided(header).map { part in
        let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(trimmed)
        guard sides.count == 2 else { return (sides[0].lowercased(), nil) }
        let isQuoted = sides[1].count > 1 && sides[1].hasPrefix("\"") && sides[1].hasSuffix("\"")
        return (sides[0].lowercased(), String(isQuoted ? sides[1].dropFirst().dropLast() : sides[1]))
      }
    }

    /// What is between the commas that are not within quotes.
    private static func divided(_ header: String) -> [Substring] {
      var isQuoted = false
      return header.split { character in
        if character == "\"" { isQuoted.toggle() }
        return character == "," && !isQuoted
      }
    }

    private static func trimmed(_ text: Substring) -> Substring {
      let start = text.drop { $0 == " " || $0 == "\t" }
      guard let end = start.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return start }
      return start[...end]
    }
  }
#endif
