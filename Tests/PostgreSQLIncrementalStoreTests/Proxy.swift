#if PostgreSQL
  import Foundation
  import Glibc

  /// Stands between clients and the server, and can cut connections at a commit.
  final class Proxy: @unchecked Sendable {
    /// What happens to the next commit that a client sends. The client's connection is cut each time.
    enum Cut {
      /// The server gets the commit, and its answer is lost.
      case answer
      /// The server gets the commit only when the test says so.
      case late
      /// The same with the whole save.
      case lateSave
      /// The server does not get the commit.
      case commit
    }

    let folder: String
    private let listener: Int32
    private let lock = NSLock()
    private var next: Cut?
    private var held: (@Sendable () -> Void)?
    private var sent = 0
    /// After how many bytes that the server sends connections are ended; nil for no end.
    private var rest: Int?
    private var sockets: [Int32] = []
    /// Those of which the other end is closed.
    private var ended: Set<Int32> = []

    init() {
      folder = "/tmp/cairn-proxy.\(UUID().uuidString.prefix(8))"
      try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      listener = unsafe Self.socket("\(folder)/.s.PGSQL.5432") { unsafe bind($0, $1, $2) }
      listen(listener, 16)
      Thread { [self] in serve() }.start()
    }

    func end() {
      lock.withLock { for socket in sockets + [listener] { shutdown(socket, Int32(SHUT_RDWR)) } }
      try? FileManager.default.removeItem(atPath: folder)
    }

    /// Cuts the next commit.
    func cut(_ cut: Cut) { lock.withLock { next = cut } }

    /// Ends all connections after the server has sent a number of bytes.
    func cutAnswers(after bytes: Int) { lock.withLock { rest = bytes } }

    var hasCut: Bool { lock.withLock { next == nil } }

    /// How often clients have sent something, which is once for each round trip unless it is much.
    var requests: Int { lock.withLock { sent } }

    /// Lets the server have what was held, and waits until it has ended.
    func release() {
      let release = lock.withLock {
        defer { held = nil }
        return held
      }
      release?()
    }

    /// Ends all connections.
    func disconnect() {
      lock.withLock {
        for socket in sockets { shutdown(socket, Int32(SHUT_RDWR)) }
        sockets = []
      }
    }

    private static func socket(
      _ path: String, _ connect: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
      let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
      let result = unsafe withUnsafeBytes(of: &address) { buffer -> Int32 in
        guard let start = unsafe buffer.assumingMemoryBound(to: sockaddr.self).baseAddress else { return -1 }
        return unsafe connect(socket, start, socklen_t(buffer.count))
      }
      precondition(result == 0, "no socket at \(path)")
      return socket
    }

    private func serve() {
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0 else { return }
        let server = unsafe Self.socket("\(Server.folder)/.s.PGSQL.5432") { unsafe Glibc.connect($0, $1, $2) }
        lock.withLock { sockets += [client, server] }
        Thread { [self] in pump(client, server, isRequest: true) }.start()
        Thread { [self] in pump(server, client, isRequest: false) }.start()
      }
    }

    private func pump(_ source: Int32, _ target: Int32, isRequest: Bool) {
      var buffer = [UInt8](repeating: 0, count: 65_536)
      while true {
        let count = unsafe recv(source, &buffer, buffer.count, 0)
        guard count > 0 else { break }
        let bytes = Array(buffer[..<count])
        if isRequest {
          lock.withLock { sent += 1 }
          if String(decoding: bytes, as: UTF8.self).contains("COMMIT"), cut(bytes, source, target) { return }
        } else if isOver(after: count) {
          disconnect()
          return
        }
        Self.send(bytes, target)
      }
      shutdown(target, Int32(SHUT_RDWR))
      lock.withLock { _ = ended.insert(source) }
    }

    /// Whether the server has sent all that it may send.
    private func isOver(after count: Int) -> Bool {
      lock.withLock {
        guard let left = rest else { return false }
        rest = left > count ? left - count : nil
        return rest == nil
      }
    }

    /// Cuts a connection if that is wanted.
    private func cut(_ bytes: [UInt8], _ client: Int32, _ server: Int32) -> Bool {
      let wanted = lock.withLock {
        defer { next = nil }
        return next
      }
      switch wanted {
      case nil: return false
      case .answer:
        shutdown(client, Int32(SHUT_RDWR))
        Self.send(bytes, server)
      case .late, .lateSave:
        let start = wanted == .late ? Self.commit(in: bytes) : 0
        Self.send(Array(bytes[..<start]), server)
        let hold: @Sendable () -> Void = { [self] in
          Self.send(Array(bytes[start...]), server)
          shutdown(server, Int32(SHUT_WR))
          while lock.withLock({ !ended.contains(server) }) { sched_yield() }
        }
        lock.withLock { held = hold }
        shutdown(client, Int32(SHUT_RDWR))
      case .commit:
        shutdown(client, Int32(SHUT_RDWR))
        shutdown(server, Int32(SHUT_RDWR))
      }
      return true
    }

    /// Where the message begins that has the commit: one byte, its length, and the name of no statement.
    private static func commit(in bytes: [UInt8]) -> Int {
      bytes.firstRange(of: Array("COMMIT".utf8)).map { $0.lowerBound - 6 } ?? 0
    }

    private static func send(_ bytes: [UInt8], _ socket: Int32) {
      var rest = bytes[...]
      while !rest.isEmpty {
        let sent = unsafe rest.withUnsafeBytes {
          unsafe Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        guard sent > 0 else { return }
        rest = rest.dropFirst(sent)
      }
    }
  }
#endif
