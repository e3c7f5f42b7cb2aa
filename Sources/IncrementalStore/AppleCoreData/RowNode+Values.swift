/// Apple's contexts ask for one value after the other.
extension RowNode {
  static let givesAllValues = false
}
