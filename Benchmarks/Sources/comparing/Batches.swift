extension Array {
  /// The elements, a thousand at a time.
  package var batches: [ArraySlice<Element>] {
    stride(from: 0, to: count, by: objectsPerSave).map { self[$0..<Swift.min($0 + objectsPerSave, count)] }
  }
}

package let objectsPerSave = 1000
