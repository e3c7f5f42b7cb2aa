extension Store {
  /// Opens the store in a directory; creates both if there is nothing yet.
  ///
  /// Reads the index from the newest checkpoint, at some 6 ns a row, and the log after the checkpoint, at 100 to 500
  /// ns a record; without a checkpoint, the whole log. Changes nothing in an existing store. A process that already has
  /// the store open for writing gets the same store again, if it asks for the same options; while another thread opens
  /// or closes the store, this waits for that. A poisoned store is closed and opened again.
  ///
  /// - Throws: `locked`, also if the same store is opened from within its opening; `optionsMismatch`, `newerFormat`,
  ///   `damaged`, `corrupted`, `notAStore`, `backup`, `notFound`, `noPermission`, `noSpace`, `noDescriptors`,
  ///   `noMemory`, `inputOutput`, `cancelled`, `invalidArgument`; `commitNotFound` if the log does not have the commit
  ///   that ``StoreOptions/upTo`` names. An existing store is unchanged after any of them.
  public static func open(at path: String, options: StoreOptions = StoreOptions()) throws(StoreError) -> Store {
    try open(at: path, options: options, environment: .system)
  }

  package static func open(
    at path: String, options: StoreOptions, environment: Environment
  ) throws(StoreError) -> Store {
    try StoreOpening(path: path, options: options, environment: environment).open()
  }

  /// Runs `body` while the store at a path is not open for writing anywhere, this process included. The store may be
  /// damaged.
  ///
  /// - Throws: `locked`, `notFound`, `notAStore`, `noPermission`, `noDescriptors`, `inputOutput`, and whatever `body`
  ///   throws.
  package static func withLock<R>(at path: String, _ body: () throws -> R) throws -> R {
    try StoreOpening(path: path, options: StoreOptions(), environment: .system).withLock(body)
  }
}
