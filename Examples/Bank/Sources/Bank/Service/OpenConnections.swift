import NIOCore
import Synchronization

/// The open connections, to be closed when they are idle.
final class OpenConnections: Sendable {
  private struct State {
    var channels: [ObjectIdentifier: any Channel] = [:]
    var isQuiescing = false
  }

  private let state = Mutex(State())

  func add(_ channel: any Channel) {
    let isQuiescing = state.withLock { state in
      state.channels[ObjectIdentifier(channel)] = channel
      return state.isQuiescing
    }
    if isQuiescing { quiesce(channel) }
  }

  func remove(_ channel: any Channel) {
    state.withLock { _ = $0.channels.removeValue(forKey: ObjectIdentifier(channel)) }
  }

  func quiesce() {
    let channels = state.withLock { state in
      state.isQuiescing = true
      return Array(state.channels.values)
    }
    for channel in channels { quiesce(channel) }
  }

  /// Closes a connection: NIO's HTTP pipeline closes it after the current response.
  private func quiesce(_ channel: any Channel) {
    channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
  }
}
