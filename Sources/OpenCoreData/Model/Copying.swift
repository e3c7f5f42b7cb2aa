import Foundation

/// A copy of the type the original has.
func copied<Original: NSObject>(_ original: Original) -> Original {
  guard let copy = original.copy() as? Original else {
    preconditionFailure("A copy of \(Original.self) is no \(Original.self).")
  }
  return copy
}
