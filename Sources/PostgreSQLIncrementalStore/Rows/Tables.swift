#if PostgreSQL
  /// The tables of a store in its namespace: STORE-FORMAT.md, section 11.
  enum Tables {
    /// The version of the tables that this code writes.
    static let format: Int64 = 1

    /// Entries are kept in two parts, since an index takes no long values: the first bytes, and the rest.
    static let headLength = 1000

    /// The statements that make the tables of a new store.
    static func creation(in namespace: String) -> String {
      """
      CREATE SCHEMA IF NOT EXISTS \(Connection.quoted(namespace));
      CREATE TABLE cairn_store (format bigint NOT NULL);
      CREATE TABLE cairn_rows (
        entity integer NOT NULL, reference bytea NOT NULL, bytes bytea NOT NULL,
        version bigint NOT NULL, revision bigint NOT NULL,
        PRIMARY KEY (entity, reference));
      CREATE TABLE cairn_entries (
        head bytea NOT NULL, tail bytea NOT NULL,
        hash bytea NOT NULL GENERATED ALWAYS AS (CASE WHEN tail = '' THEN ''::bytea ELSE sha256(tail) END) STORED,
        PRIMARY KEY (head, hash));
      CREATE TABLE cairn_saves (
        number uuid PRIMARY KEY, revision bigint NOT NULL, made timestamptz NOT NULL DEFAULT now());
      CREATE SEQUENCE cairn_revisions;
      CREATE SEQUENCE cairn_references;
      INSERT INTO cairn_store VALUES (\(format));
      """
    }

    /// The statements that remove the tables.
    static let removal = """
      DROP TABLE cairn_store, cairn_rows, cairn_entries, cairn_saves;
      DROP SEQUENCE cairn_revisions, cairn_references;
      """

    /// The format of the store in a connection's namespace; nil if there is no store.
    static func format(of connection: Connection) throws(PostgreSQLError) -> Int64? {
      let exists = try connection.run("SELECT to_regclass('cairn_store') IS NOT NULL", Parameters())
      guard exists.bool(0, 0) else { return nil }
      let answer = try connection.run("SELECT format FROM cairn_store", Parameters())
      return answer.count == 1 ? answer.integer(0, 0) : 0
    }
  }
#endif
