extension GraphModel {
  mutating func set(_ c: Int, _ x: Int, _ property: GraphProperty, _ value: GraphValue) -> Expectation {
    guard property.inverse != nil else {
      guard isUsable(c, x) || isGone(c, x) else { return .skipped }
      put(c, x, property, value)
      return Expectation(outcome: .done, faults: [x: false])
    }
    guard case .links(let ids) = value else { return .skipped }
    let expectation = assign(c, x, property, ids)
    if expectation.outcome != .skipped { for y in ids { register(c, y) } }
    return expectation
  }

  mutating func add(_ c: Int, _ x: Int, _ property: GraphProperty, _ y: Int) -> Expectation {
    let old = peek(c, x, property)
    let expectation = assign(c, x, property, old.contains(y) ? old : old + [y])
    if expectation.outcome != .skipped { touch(c, y, property.inverse!) }
    return expectation
  }

  mutating func remove(_ c: Int, _ x: Int, _ property: GraphProperty, _ y: Int) -> Expectation {
    guard isUsable(c, y), mayRelate(c, y) else { return .skipped }
    let expectation = assign(c, x, property, peek(c, x, property).filter { $0 != y })
    if expectation.outcome != .skipped { touch(c, y, property.inverse!) }
    return expectation
  }

  mutating func place(_ c: Int, _ x: Int, _ property: GraphProperty, _ y: Int, at index: Int) -> Expectation {
    var ids = peek(c, x, property).filter { $0 != y }
    ids.insert(y, at: min(index, ids.count))
    let expectation = assign(c, x, property, ids)
    if expectation.outcome != .skipped { touch(c, y, property.inverse!) }
    return expectation
  }

  /// Sets a relationship, and makes the changes to the other ends that follow from it.
  private mutating func assign(_ c: Int, _ x: Int, _ property: GraphProperty, _ ids: [Int]) -> Expectation {
    guard let inverse = property.inverse, isUsable(c, x), ids.allSatisfy({ isUsable(c, $0) }) else { return .skipped }
    let old = peek(c, x, property)
    let added = ids.filter { !old.contains($0) }
    let partners = inverse.isToMany ? [] : added.flatMap { peek(c, $0, inverse) }
    guard ([x] + old + ids + partners).allSatisfy({ mayRelate(c, $0) }) else { return .skipped }

    // If a member is removed and added again before the other members are read, its position is not defined.
    guard
      !added.contains(where: { comesBack(c, $0, to: x, property) || comesBack(c, x, to: $0, inverse) })
    else { return .skipped }

    put(c, x, property, .links(ids, of: property))
    for y in old where !ids.contains(y) { detach(c, y, inverse, from: x) }
    for y in added {
      if !inverse.isToMany, let partner = peek(c, y, inverse).first, partner != x {
        detach(c, partner, property, from: y)
      }
      attach(c, y, inverse, to: x)
    }
    return Expectation(outcome: .done, faults: property.isToMany ? [:] : [x: false])
  }

  private func comesBack(_ c: Int, _ y: Int, to x: Int, _ property: GraphProperty) -> Bool {
    guard property.isOrdered, let member = pools[c].members[x], member.status != .inserted else { return false }
    return member.unread.contains(property) && saved[x]?.links(property)?.contains(y) == true
  }

  /// Whether the relationships of an object may be changed: the context has them as they are saved, and, in a careful
  /// program, the other context has not changed them.
  private func mayRelate(_ c: Int, _ x: Int) -> Bool {
    guard isCurrent(c, x) else { return false }
    if isCareful, let other = pools[1 - c].members[x], !other.touchedLinks.isEmpty || other.status == .deleted {
      return false
    }
    return isUsable(c, x) || pools[c].members[x]?.status == .deleted && !pools[c].justDeleted.contains(x)
  }

  private mutating func detach(_ c: Int, _ y: Int, _ property: GraphProperty, from x: Int) {
    put(c, y, property, .links(links(c, y, property).filter { $0 != x }, of: property))
  }

  private mutating func attach(_ c: Int, _ y: Int, _ property: GraphProperty, to x: Int) {
    let old = property.isToMany ? links(c, y, property) : []
    if !old.contains(x) { put(c, y, property, .links(old + [x], of: property)) }
  }

  private mutating func put(_ c: Int, _ x: Int, _ property: GraphProperty, _ new: GraphValue) {
    _ = value(c, x, property)
    pools[c].members[x]!.now!.values[property] = new
    pools[c].members[x]!.touched.insert(property)
    pools[c].members[x]!.isUpdated = pools[c].members[x]!.status == .kept
    pools[c].members[x]!.isToBeSaved = pools[c].members[x]!.isUpdated
  }

  /// Marks the other end as touched: it may count as changed, too, if the context could not know that there was nothing
  /// to change.
  private mutating func touch(_ c: Int, _ x: Int, _ property: GraphProperty) {
    let wasFault = pools[c].members[x]?.isFault ?? true
    put(c, x, property, value(c, x, property))
    if wasFault { pools[c].members[x]!.mayHaveBeenRead = true }
  }

  // MARK: Deleting

  mutating func delete(_ c: Int, _ x: Int) -> Expectation {
    guard isUsable(c, x), isCurrent(c, x) else { return .skipped }
    register(c, x)
    // Dangling references stay as they are, and the objects they refer to need not exist.
    pools[c].justDeleted.append(x)
    if pools[c].members[x]!.status == .kept { pools[c].members[x]!.status = .deleted }
    return .done
  }

  /// Ends an event: applies the delete rules of the objects that were deleted in it.
  mutating func process(_ c: Int) {
    var position = 0
    while position < pools[c].justDeleted.count {
      propagate(c, pools[c].justDeleted[position])
      position += 1
    }
    for x in pools[c].justDeleted where pools[c].members[x]?.status == .inserted { pools[c].members[x] = nil }
    pools[c].justDeleted = []
  }

  private mutating func propagate(_ c: Int, _ x: Int) {
    for property in GraphProperty.relationships {
      let others = links(c, x, property).filter { isUsable(c, $0) }
      switch property.deleteRule {
      case .nullify:
        for other in others {
          if !isCurrent(c, other) { pools[c].isTangled = true }
          detach(c, other, property.inverse!, from: x)
        }
      case .cascade:
        for other in others {
          if !isCurrent(c, other) { pools[c].isTangled = true }
          _ = delete(c, other)
        }
      case .deny, .nothing:
        // Other objects refer to an object that was never saved, and therefore cannot be saved.
        if !others.isEmpty, pools[c].members[x]!.status == .inserted { pools[c].isTangled = true }
      }
    }
  }
}
