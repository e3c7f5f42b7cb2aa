import Foundation

/// The templates of formats that were parsed. An application has few formats, unless it writes values into them; when
/// there are too many, all are dropped.
enum FormatTemplates {
  private static let most = 256
  /// The length of the longest format, in bytes, that has a template here.
  private static let longest = 1024
  private static let known = Locked<[FormatText: FormatTemplate]>([:])

  /// The predicate of a format; nil if its template is not known, or if the arguments do not fit.
  static func predicate(_ format: String, _ arguments: [Any?]) -> NSPredicate? {
    guard format.utf8.count <= longest else { return nil }
    let text = FormatText(text: format)
    return known.withLock { $0[text] }?.predicate(arguments)
  }

  /// Keeps the template of a format, if it has one.
  static func keep(_ format: String, _ predicate: NSPredicate, _ placeholders: [FormatTemplate.Placeholder]) {
    guard format.utf8.count <= longest, let template = FormatTemplate(predicate, placeholders) else { return }
    known.withLock { known in
      if known.count >= most { known = [:] }
      known[FormatText(text: format)] = template
    }
  }
}

/// A format as the key of a dictionary. Equal are only formats of the same bytes: they may contain literals, whose
/// scalars matter.
private struct FormatText: Hashable {
  var text: String

  static func == (left: FormatText, right: FormatText) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

  func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}
