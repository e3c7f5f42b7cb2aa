/// Fetches cannot be cancelled through Apple's contexts.
struct CancellationCheck {
  mutating func noteRow() throws {}
}
