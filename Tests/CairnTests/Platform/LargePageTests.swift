import Testing

@testable import Cairn

@Suite struct LargePageTests {
  @Test("what is moved into large pages is what was there", arguments: [0, 1, 5000, (2 << 20) + 64])
  func movesWhatWasThere(_ start: Int) throws {
    let length = 9 << 20 | 1234
    let mapping = try PrivateMapping(nil, length)
    let words = unsafe mapping.base.bindMemory(to: UInt64.self, capacity: length / 8)
    for index in 0..<length / 8 { unsafe words[index] = UInt64(index) &* 0x9E37_79B9_7F4A_7C15 }
    let memory = unsafe mapping.memory(start..<length - 777)
    unsafe LargePage.starts(in: memory).forEach { place in
      let offset = unsafe place - mapping.base
      #expect(offset >= start && offset + LargePage.size <= length - 777)
      if let page = LargePage() { unsafe page.replace(place) }
    }
    for index in 0..<length / 8 where unsafe words[index] != UInt64(index) &* 0x9E37_79B9_7F4A_7C15 {
      Issue.record("word \(index) has changed")
      return
    }
  }
}
