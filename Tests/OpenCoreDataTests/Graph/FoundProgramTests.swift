import Testing

/// Programs to which failing random programs were shrunk.
@Suite struct FoundProgramTests {
  private func a(_ operation: GraphStep.Operation) -> GraphStep { GraphStep(context: 0, operation: operation) }
  private func b(_ operation: GraphStep.Operation) -> GraphStep { GraphStep(context: 1, operation: operation) }

  private func run(_ steps: GraphStep...) throws {
    for kind in GraphSubject.Kind.stores {
      try GraphRunner.run(
        GraphProgram(steps: steps + [a(.inspect)], isCareful: false), kind)
    }
  }

  @Test("An object removed and added again before a relationship is read is a member.")
  func removedAndAddedUnread() throws {
    try run(
      b(.insert(1)), b(.insert(3)), b(.save), a(.remove(1, .members, 3)), a(.add(1, .members, 3)), a(.save))
    try run(
      b(.insert(1)), b(.insert(2)), b(.save), a(.remove(1, .friends, 2)), a(.add(1, .friends, 2)), a(.save))
  }

  @Test("An object added and removed again before a relationship is read is no member.")
  func addedAndRemovedUnread() throws {
    try run(
      b(.insert(1)), b(.insert(2)), b(.add(1, .children, 2)), b(.save), a(.add(1, .children, 2)),
      a(.remove(1, .children, 2)), a(.save))
  }

  @Test("An order that was set before a refresh is saved.")
  func reorderedAndRefreshed() throws {
    try run(
      b(.insert(1)), b(.insert(2)), b(.place(1, .members, 1, at: 1)), b(.save),
      b(.set(1, .members, .links([2, 1]))), b(.refresh(1, mergeChanges: true)), b(.save))
    try run(
      a(.insert(1)), a(.insert(3)), a(.save), a(.set(3, .groups, .links([1, 3]))), a(.insert(4)),
      a(.place(1, .members, 4, at: 0)), a(.refreshAll), a(.save))
  }

  @Test("An object that was saved without a difference has the version of the store.")
  func savedWithoutDifference() throws {
    try run(
      a(.insert(1)), a(.save), a(.reset), a(.remove(1, .remarks, 1)), a(.save), a(.set(1, .number, .number(2))),
      a(.save))
  }

  @Test("Removing a member and adding it at the end changes the order.")
  func reorderedByRemoving() throws {
    try run(
      a(.insert(1)), a(.insert(2)), a(.add(1, .groups, 1)), a(.add(2, .groups, 1)), a(.save),
      a(.place(1, .members, 1, at: 1)), a(.save))
  }

  @Test("The order of members survives a refresh.")
  func orderAndRefresh() throws {
    try run(
      a(.insert(1)), a(.insert(3)), a(.add(3, .line, 1)), a(.insert(6)), a(.save), a(.place(3, .line, 6, at: 0)),
      a(.refreshAll), a(.inspect), a(.save))
    try run(
      a(.insert(1)), a(.insert(2)), a(.insert(3)), a(.set(3, .line, .links([1, 2]))), a(.save),
      a(.place(3, .line, 2, at: 0)), a(.refresh(3, mergeChanges: true)), a(.inspect), a(.save))
  }

  @Test("References to an object that was deleted before it was saved are not saved.")
  func deletedBeforeSaving() throws {
    try run(a(.insert(2)), a(.insert(4)), a(.set(2, .warden, .links([4]))), a(.delete(4)), a(.save))
    try run(a(.insert(2)), a(.insert(4)), a(.set(2, .subject, .links([4]))), a(.delete(4)), a(.save))
  }

  @Test("Adding a member again before the members are read is no new reference to the object, which may be deleted.")
  func addedAgainAndDeleted() throws {
    try run(
      b(.insert(1)), a(.insert(2)), b(.save), a(.set(2, .subject, .links([1]))), a(.save), a(.add(1, .remarks, 2)),
      a(.delete(2)), a(.save))
  }

  @Test("A rollback restores both ends of a relationship, even if the other end was not read.")
  func rolledBackUnread() throws {
    try run(
      b(.insert(1)), b(.insert(4)), b(.add(4, .groups, 1)), b(.save), a(.add(4, .groups, 1)), a(.rollback))
    try run(
      a(.insert(5)), a(.insert(9)), a(.save), a(.reset), a(.remove(9, .friends, 5)), a(.set(9, .number, .number(2))),
      a(.rollback))
  }

  @Test("An object that was deleted before it was saved prevents no other deletion.")
  func deniedByNobody() throws {
    try run(
      a(.insert(7)), a(.save), a(.insert(8)), a(.add(7, .wards, 8)), a(.set(7, .parent, .links([8]))), a(.delete(8)),
      a(.save))
  }

  @Test("An object that was deleted elsewhere is found missing, also while its number of members is validated.")
  func validatedButGone() throws {
    try run(
      a(.insert(1)), b(.insert(2)), a(.save), a(.delete(1)), b(.set(2, .head, .links([1]))), a(.save), b(.save))
  }

  @Test("An object inserted again because it was deleted elsewhere keeps its values.")
  func insertedAgain() throws {
    try run(
      b(.policy(.objectTrump)), b(.insert(8)), b(.insert(9)), b(.save), b(.forget), a(.delete(9)),
      b(.set(9, .text, .text("b"))), a(.save), b(.save), a(.fetch(GraphQuery())))
  }
}
