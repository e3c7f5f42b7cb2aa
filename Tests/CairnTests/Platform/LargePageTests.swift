import Testing

@testable import Cairn

#if os(Linux)
  import Glibc
#endif

@Suite struct LargePageTests {
  @Test("Moving memory into large pages keeps its contents.", arguments: [0, 1, 5000, (2 << 20) + 64])
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

  #if os(Linux)
    @Test("Memory stays where it is if the process may have no more mappings.") func mappingsUsedUp() async {
      await #expect(processExitsWith: .success) {
        let mapping = try PrivateMapping(nil, 6 << 20)
        let start = unsafe LargePage.starts(in: mapping.memory(0..<mapping.length))[0]
        unsafe start.storeBytes(of: 7, as: UInt64.self)
        let page = LargePage()
        // Each page becomes a mapping of its own, up to the limit that most systems have.
        let count = 1 << 17
        let area = unsafe mmap(nil, count * 4096, PROT_READ, MAP_PRIVATE | MAP_ANON | MAP_NORESERVE, -1, 0)
        var last = 1
        while last < count, unsafe mprotect(area! + last * 4096, 4096, PROT_NONE) == 0 { last += 2 }
        if let page { unsafe page.replace(start) }
        demand(unsafe start.load(as: UInt64.self) == 7, "the memory has changed")
        unsafe munmap(area, count * 4096)
      }
    }
  #endif
}
