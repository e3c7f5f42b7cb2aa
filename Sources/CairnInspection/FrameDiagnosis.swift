import Cairn

/// The problems of an invalid frame: those of its records, or else that of the frame itself.
package struct FrameDiagnosis {
  package struct Problem: Sendable {
    package let kind: Finding.Kind
    package let offset: Int
    package let words: String
  }

  package private(set) var problems: [Problem] = []

  init(_ mapping: any Mapping, _ origin: SegmentOrigin, offset: Int, limit: Int) {
    let frame = unsafe mapping.base + offset
    guard let header = unsafe FrameHeader(frame, available: limit - offset) else {
      problems = [Problem(kind: .frame, offset: offset, words: unsafe Self.headerProblem(frame, limit - offset))]
      return
    }
    var checksum = unsafe CRC32C.register(origin.seed.start(offset), frame + 8, FrameHeader.size - 8)
    var position = FrameHeader.size
    // After an invalid record, the next one may begin elsewhere, so that only a valid record there is conclusive.
    var isGuess = false
    for number in 0..<header.recordCount {
      func find(_ words: String) {
        problems.append(Problem(kind: .record, offset: offset + position, words: "record \(number + 1): \(words)"))
      }
      let available = header.length - position
      guard
        let record = unsafe RecordHeader(frame + position, available: available, baseSequence: origin.baseSequence)
      else {
        if !isGuess { find("the fields before the key are invalid") }
        return
      }
      let isValid =
        unsafe RecordView(
          frame + position, available: available, checksumStart: origin.seed.start(offset + position),
          baseSequence: origin.baseSequence) != nil
      if !isValid {
        guard !isGuess else { return }
        find("the checksum is wrong")
      } else if record.kind == nil {
        find("kind \(record.tag & 15) does not exist")
      } else if record.sequence != header.sequence, !origin.isCompacted {
        find("the record is from commit \(record.sequence), the frame from commit \(header.sequence)")
      }
      isGuess = !isValid
      let padding = record.recordLength..<record.paddedLength
      if isValid, padding.contains(where: { unsafe frame.load(fromByteOffset: position + $0, as: UInt8.self) != 0 }) {
        find("the padding is not zero")
      }
      checksum = unsafe CRC32C.register(checksum, frame + position, 4)
      position += record.paddedLength
    }
    guard problems.isEmpty else { return }
    let words =
      if position != header.length {
        "the frame has \(header.length) bytes, but its records have \(position - FrameHeader.size)"
      } else if unsafe ~checksum != UInt32(littleEndian: frame.load(fromByteOffset: 4, as: UInt32.self)) {
        "the frame's checksum is wrong"
      } else {
        "the frame is invalid"
      }
    problems = [Problem(kind: .frame, offset: offset, words: words)]
  }

  private static func headerProblem(_ frame: UnsafeRawPointer, _ available: Int) -> String {
    guard available >= FrameHeader.size else {
      return "only \(available) bytes remain where a frame should begin"
    }
    let kind = unsafe UInt32(littleEndian: frame.load(as: UInt32.self))
    return switch kind {
    case 0: "there are zeros where a frame should begin"
    case FrameHeader.kind: "the frame's length is invalid"
    default: "there are other bytes where a frame should begin"
    }
  }
}
