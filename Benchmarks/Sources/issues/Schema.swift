extension GRDBContender {
  /// The tables of the same tracker, with the uniqueness and the indexes that the model declares, and an index for each
  /// foreign key.
  static let schema = """
    CREATE TABLE project (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
    CREATE INDEX projectName ON project (name);
    CREATE TABLE label (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
    CREATE INDEX labelName ON label (name);
    CREATE TABLE issue (
      id INTEGER PRIMARY KEY, uuid BLOB NOT NULL, number INTEGER NOT NULL, title TEXT NOT NULL, body TEXT NOT NULL,
      status TEXT NOT NULL, priority INTEGER NOT NULL, created REAL NOT NULL, estimate REAL,
      project INTEGER REFERENCES project ON DELETE SET NULL);
    CREATE UNIQUE INDEX issueUUID ON issue (uuid);
    CREATE INDEX issueCreated ON issue (created);
    CREATE INDEX issueStatusCreated ON issue (status, created);
    CREATE INDEX issueProject ON issue (project);
    CREATE TABLE labelling (
      issue INTEGER NOT NULL REFERENCES issue ON DELETE CASCADE,
      label INTEGER NOT NULL REFERENCES label ON DELETE CASCADE,
      PRIMARY KEY (issue, label)) WITHOUT ROWID;
    CREATE INDEX labellingLabel ON labelling (label, issue);
    CREATE TABLE comment (
      id INTEGER PRIMARY KEY, text TEXT NOT NULL, author TEXT NOT NULL, created REAL NOT NULL,
      issue INTEGER REFERENCES issue ON DELETE CASCADE);
    CREATE INDEX commentIssue ON comment (issue);
    """
}
