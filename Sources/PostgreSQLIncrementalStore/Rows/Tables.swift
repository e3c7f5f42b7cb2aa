#if PostgreSQL
  import IncrementalStore

  /// The tables of a store in its namespace: STORE-FORMAT.md, section 11.
  enum Tables {
    /// The version of the tables that this code writes.
    static let format: Int64 = 2

    /// Entries are kept in two parts, since an index takes no long values: the first bytes, and the rest.
    static let headLength = 1000

    /// The statements that make the tables of a new store.
    static func creation(in namespace: String, _ kind: RowReferenceKind) -> String {
      let reference = kind == .uuid ? "uuid" : "bigint"
      return """
        CREATE SCHEMA IF NOT EXISTS \(Connection.quoted(namespace));
        CREATE TABLE cairn_store (format bigint NOT NULL, has_uuids boolean NOT NULL);
        CREATE TABLE cairn_entities (number bigint PRIMARY KEY, name text NOT NULL, superentity bigint, "table" text);
        CREATE TABLE cairn_properties (
          number bigint PRIMARY KEY, entity bigint NOT NULL, name text NOT NULL, kind text NOT NULL, destination bigint,
          "column" text);
        CREATE TABLE cairn_rows (
          entity integer NOT NULL, reference bytea NOT NULL, bytes bytea NOT NULL,
          version bigint NOT NULL, revision bigint NOT NULL,
          PRIMARY KEY (entity, reference));
        CREATE TABLE cairn_members (
          entry bytea PRIMARY KEY, relationship bigint NOT NULL, owner \(reference) NOT NULL, position bigint,
          entity bigint NOT NULL, member \(reference) NOT NULL);
        CREATE INDEX cairn_members_by_owner ON cairn_members (owner, relationship);
        CREATE TABLE cairn_keys (key bytea PRIMARY KEY, holder bytea NOT NULL);
        CREATE TABLE cairn_entries (
          head bytea NOT NULL, tail bytea NOT NULL,
          hash bytea NOT NULL GENERATED ALWAYS AS (CASE WHEN tail = '' THEN ''::bytea ELSE sha256(tail) END) STORED,
          PRIMARY KEY (head, hash));
        CREATE TABLE cairn_saves (
          number uuid PRIMARY KEY, revision bigint NOT NULL, made timestamptz NOT NULL DEFAULT now(),
          transaction xid8 NOT NULL DEFAULT pg_current_xact_id(), client uuid NOT NULL, changes bytea);
        CREATE INDEX cairn_saves_by_transaction ON cairn_saves (transaction);
        CREATE SEQUENCE cairn_revisions;
        CREATE SEQUENCE cairn_references;
        INSERT INTO cairn_store VALUES (\(format), \(kind == .uuid));
        """
    }

    /// The statements that remove the tables, and all views of them.
    static func removal(of connection: Connection) throws -> String {
      let answer = try connection.run(#"SELECT "table" FROM cairn_entities WHERE "table" IS NOT NULL"#, Parameters())
      let tables = (0..<answer.count).map { Connection.quoted(answer.text($0, 0)) }
      return """
        DROP TABLE \((own + tables).joined(separator: ", ")) CASCADE;
        DROP SEQUENCE cairn_revisions, cairn_references;
        """
    }

    private static let own = [
      "cairn_store", "cairn_rows", "cairn_members", "cairn_keys", "cairn_entries", "cairn_saves", "cairn_entities",
      "cairn_properties",
    ]

    /// The format and the kind of references of the store in a connection's namespace; nil if there is no store.
    static func head(of connection: Connection) throws -> (format: Int64, kind: RowReferenceKind)? {
      let exists = try connection.run("SELECT to_regclass('cairn_store') IS NOT NULL", Parameters())
      guard exists.bool(0, 0) else { return nil }
      // Format 1 had no second column.
      let answer = try connection.run("SELECT s.*, s.format FROM cairn_store s", Parameters())
      guard answer.count == 1 else { return (0, .integer) }
      return (answer.integer(0, 0), answer.bool(0, 1) ? .uuid : .integer)
    }
  }
#endif
