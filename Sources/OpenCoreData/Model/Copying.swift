import Foundation

/// A copy of an object, cast to the object's static type.
func copied<Original: NSObject>(_ original: Original) -> Original {
  guard let copy = original.copy() as? Original else {
    fatalError("A copy of \(Original.self) is no \(Original.self).")
  }
  return copy
}
