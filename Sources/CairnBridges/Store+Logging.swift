#if Bridges
  public import Cairn
  public import Logging

  extension Store {
    /// Logs the events of the store from now on, until it is closed or the returned task is cancelled: slow commits and
    /// stalls as warnings, a full disk as an error, a failure that has ended writing as critical. The path of the store
    /// is in the metadata.
    @discardableResult
    public func logEvents(to logger: Logger) -> Task<Void, Never> {
      let (events, path) = (events, path)
      return Task {
        for await event in events { logger.log(level: event.level, "\(event)", metadata: ["store": "\(path)"]) }
      }
    }
  }

  extension StoreEvent {
    fileprivate var level: Logger.Level {
      switch self {
      case .slowCommit, .stall: .warning
      case .spaceLow: .error
      case .changeReaderTooFarBehind: .error
      case .poisoned: .critical
      }
    }
  }
#endif
