/// An ordered list that finds a place, an element by its rank and the rank of an element in O(log n): a weight-balanced
/// binary tree whose nodes know the sizes of their subtrees.
///
/// The tree knows no order of its own: the caller says which elements come after a new one. A node keeps its number
/// until its element is removed.
struct RankedTree<Element> {
  typealias Node = Int

  private struct Link {
    var left = 0
    var right = 0
    var parent = 0
    var size = 1
  }

  /// The first one stands for no node.
  private var links = [Link(size: 0)]
  private var elements: [Element?] = [nil]
  private var free: [Node] = []
  private var root = 0

  init() {}

  /// The nodes are numbered from 1 in the order of the elements.
  ///
  /// - Complexity: O(n).
  init(_ sorted: some Collection<Element>) {
    elements.reserveCapacity(sorted.count + 1)
    for element in sorted { elements.append(element) }
    links += Array(repeating: Link(), count: sorted.count)
    root = join(1..<elements.count, parent: 0)
  }

  private mutating func join(_ nodes: Range<Node>, parent: Node) -> Node {
    guard !nodes.isEmpty else { return 0 }
    let middle = nodes.lowerBound + nodes.count / 2
    let left = join(nodes.lowerBound..<middle, parent: middle)
    let right = join(middle + 1..<nodes.upperBound, parent: middle)
    links[middle] = Link(left: left, right: right, parent: parent, size: nodes.count)
    return middle
  }

  // MARK: Reading

  var count: Int { links[root].size }
  var isEmpty: Bool { root == 0 }

  /// Nil only for a node whose element was removed.
  subscript(node: Node) -> Element? { elements[node] }

  /// The element with so many elements before it; nil if there is none.
  func element(at rank: Int) -> Element? {
    var (node, rank) = (root, rank)
    while node != 0 {
      let before = links[links[node].left].size
      if rank == before { return elements[node] }
      if rank < before {
        node = links[node].left
      } else {
        rank -= before + 1
        node = links[node].right
      }
    }
    return nil
  }

  /// The number of elements before that of a node.
  func rank(of node: Node) -> Int {
    var (node, rank) = (node, links[links[node].left].size)
    while node != root {
      let parent = links[node].parent
      if links[parent].right == node { rank += links[links[parent].left].size + 1 }
      node = parent
    }
    return rank
  }

  /// The elements in their order.
  ///
  /// - Complexity: O(n).
  func forEach(_ body: (Element) -> Void) {
    var node = first(under: root)
    while node != 0 {
      if let element = elements[node] { body(element) }
      node = next(after: node)
    }
  }

  private func first(under node: Node) -> Node {
    var node = node
    while links[node].left != 0 { node = links[node].left }
    return node
  }

  private func next(after node: Node) -> Node {
    if links[node].right != 0 { return first(under: links[node].right) }
    var node = node
    while node != 0, links[links[node].parent].right == node { node = links[node].parent }
    return node == 0 ? 0 : links[node].parent
  }

  // MARK: Changing

  /// Inserts an element before the first one for which `isAfter` is true. The elements after that one have to be after
  /// the new one, too.
  mutating func insert(_ element: Element, before isAfter: (Element) -> Bool) -> Node {
    var (parent, node, isLeft) = (0, root, false)
    while node != 0 {
      parent = node
      isLeft = elements[node].map(isAfter) ?? false
      node = isLeft ? links[node].left : links[node].right
    }
    let added = newNode(element, parent: parent)
    if parent == 0 {
      root = added
    } else if isLeft {
      links[parent].left = added
    } else {
      links[parent].right = added
    }
    balance(upFrom: parent)
    return added
  }

  private mutating func newNode(_ element: Element, parent: Node) -> Node {
    if let node = free.popLast() {
      (links[node], elements[node]) = (Link(parent: parent), element)
      return node
    }
    links.append(Link(parent: parent))
    elements.append(element)
    return links.count - 1
  }

  /// Replaces the element of a node by one with the same place.
  mutating func replace(_ node: Node, by element: Element) { elements[node] = element }

  mutating func remove(_ node: Node) {
    let link = links[node]
    let lowest: Node
    if link.left == 0 || link.right == 0 {
      lowest = link.parent
      put(link.left == 0 ? link.right : link.left, inPlaceOf: node)
    } else {
      let successor = first(under: link.right)
      lowest = links[successor].parent == node ? successor : links[successor].parent
      put(links[successor].right, inPlaceOf: successor)
      // The successor may have been the right child.
      let (left, right) = (links[node].left, links[node].right)
      put(successor, inPlaceOf: node)
      (links[successor].left, links[successor].right) = (left, right)
      links[left].parent = successor
      if right != 0 { links[right].parent = successor }
    }
    elements[node] = nil
    free.append(node)
    balance(upFrom: lowest)
  }

  /// Makes a node, or none, the child that another one has been.
  private mutating func put(_ new: Node, inPlaceOf old: Node) {
    let parent = links[old].parent
    if new != 0 { links[new].parent = parent }
    if parent == 0 {
      root = new
    } else if links[parent].left == old {
      links[parent].left = new
    } else {
      links[parent].right = new
    }
  }

  // MARK: Balance

  /// No side of a node weighs more than three times as much as the other one; an empty side weighs 1.
  private mutating func balance(upFrom lowest: Node) {
    var node = lowest
    while node != 0 {
      measure(node)
      let (left, right) = (weight(links[node].left), weight(links[node].right))
      if left > 3 * right, left > 2 {
        let child = links[node].left
        if weight(links[child].right) >= 2 * weight(links[child].left) { raise(links[child].right) }
        node = raise(links[node].left)
      } else if right > 3 * left, right > 2 {
        let child = links[node].right
        if weight(links[child].left) >= 2 * weight(links[child].right) { raise(links[child].left) }
        node = raise(links[node].right)
      }
      node = links[node].parent
    }
  }

  private func weight(_ node: Node) -> Int { links[node].size + 1 }

  private mutating func measure(_ node: Node) {
    links[node].size = links[links[node].left].size + links[links[node].right].size + 1
  }

  /// Makes a node the parent of its parent, and returns it.
  @discardableResult
  private mutating func raise(_ node: Node) -> Node {
    let parent = links[node].parent
    put(node, inPlaceOf: parent)
    let moved: Node
    if links[parent].left == node {
      moved = links[node].right
      links[parent].left = moved
      links[node].right = parent
    } else {
      moved = links[node].left
      links[parent].right = moved
      links[node].left = parent
    }
    if moved != 0 { links[moved].parent = parent }
    links[parent].parent = node
    measure(parent)
    measure(node)
    return node
  }
}
