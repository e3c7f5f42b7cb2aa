/// The value as an instance of a class; nil if its type is not a class.
///
/// A cast to `AnyObject` would first try to bridge the value, which takes twenty times as long. Only values that are
/// stored as an existential of another protocol need that cast.
func classInstance(_ value: Any) -> AnyObject? {
  func opened<Value>(_ value: Value) -> AnyObject? {
    Value.self is AnyClass || Value.self == AnyObject.self ? unsafe unsafeBitCast(value, to: AnyObject.self) : nil
  }
  return _openExistential(value, do: opened) ?? (type(of: value) is AnyClass ? value as AnyObject : nil)
}
