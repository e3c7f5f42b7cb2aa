/// What is measured for each side. The cases are in the order in which they are measured, and their raw values are
/// what a reader sees.
package protocol Figure: RawRepresentable<String>, CaseIterable, Hashable, Encodable {
  var unit: String { get }
  /// The goal: the largest ratio of Core Data's value to the other side's; nil if there is none.
  var mark: Double? { get }
}
