/// A store whose objects may not all fit into memory.
///
/// It answers a request for a limited number of objects after another one, `SELF > …`, in the order of their references,
/// by reading only these. It takes the members of an unordered relationship whose inverse is to-one from the rows of
/// the members.
package protocol LargeStore: NSIncrementalStore {}
