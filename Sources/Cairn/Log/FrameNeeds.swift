/// What the frame of a commit takes.
struct FrameNeeds {
  /// An upper bound of its length.
  var bound: Int
  /// What the commit does to the space, which decides what it may use of the reserve.
  var effect = SpaceEffect.takes
}
