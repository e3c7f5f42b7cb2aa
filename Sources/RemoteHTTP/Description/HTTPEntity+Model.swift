#if HTTP
  public import CoreData
  import OpenCoreData

  extension HTTPEntity {
    /// The entities that a model describes in its user info, whose values are all texts.
    ///
    /// An entity is described if it has one of the first three:
    ///
    /// | of an entity | |
    /// |---|---|
    /// | `remotePath` | ``path`` |
    /// | `remoteIdentifier` | ``identifierKey`` |
    /// | `remoteType` | its type among the ``types`` of the entities that it inherits from, and among its own |
    /// | `remoteTypeKey`, `remoteTypeParameter` | as in ``HTTPTypes``; entities that inherit from it have them, too |
    /// | `remoteNumericIdentifiers` | `YES`: ``hasNumericIdentifiers`` |
    /// | `remoteVersion` | ``versionKey`` |
    /// | `remoteList` | ``listKey`` |
    /// | `remoteIdentifiersParameter` | ``identifiersParameter`` |
    /// | `remoteExhaustive` | `YES`: ``hasExhaustiveLists`` |
    ///
    /// A property is described if it has a key or, if it is a relationship, a path:
    ///
    /// | of a property | |
    /// |---|---|
    /// | `remoteKey` | its key |
    /// | `remoteReadOnly` | `YES`: it is never sent |
    /// | `remoteFilter` | its parameter among the ``filters``, for equal values |
    /// | `remoteFilterOneOf` | that for one of several values |
    /// | `remoteFilterLess`, `remoteFilterLessOrEqual` | those for lesser values |
    /// | `remoteFilterGreater`, `remoteFilterGreaterOrEqual` | those for greater values |
    /// | `remoteFilterNoValue`, `remoteFilterAnyValue` | a parameter with its value, as in `user=none` |
    /// | `remoteOrder` | its name among the ``orders`` |
    /// | `remoteSentKey`, `remoteAddedKey`, `remoteRemovedKey`, `remotePath` | as in ``HTTPRelationship`` |
    ///
    /// The types of attributes tell which are dates, decimal numbers and bytes. Everything else is set in code.
    public static func all(of model: NSManagedObjectModel) -> [HTTPEntity] {
      model.entities.compactMap(HTTPEntity.init)
    }

    private init?(_ description: NSEntityDescription) {
      let info = UserInfo(description.userInfo)
      guard let name = description.name,
        info["remotePath"] != nil || info["remoteIdentifier"] != nil || info["remoteType"] != nil
      else { return nil }
      self.init(name, path: info["remotePath"])
      identifierKey = info["remoteIdentifier"] ?? "id"
      hasNumericIdentifiers = info.isSet("remoteNumericIdentifiers")
      (versionKey, listKey) = (info["remoteVersion"], info["remoteList"])
      identifiersParameter = info["remoteIdentifiersParameter"]
      types = HTTPTypes(description)
      hasExhaustiveLists = info.isSet("remoteExhaustive") && (description.subentities.isEmpty || types != nil)
      attributes = description.attributesByName.compactMapValues(HTTPAttribute.init)
      relationships = description.relationshipsByName.compactMapValues(HTTPRelationship.init)
      filters = description.propertiesByName.compactMapValues { HTTPFilter(UserInfo($0.userInfo)) }
      orders = description.propertiesByName.compactMapValues { UserInfo($0.userInfo)["remoteOrder"] }
    }
  }

  extension HTTPTypes {
    /// The types of an entity and of those that inherit from it; nil if there are none of these.
    fileprivate init?(_ description: NSEntityDescription) {
      func inherited(_ key: String) -> String? {
        sequence(first: description, next: \.superentity).lazy.compactMap { UserInfo($0.userInfo)[key] }.first
      }
      guard !description.subentities.isEmpty, let key = inherited("remoteTypeKey") else { return nil }
      var names: [String: String] = [:]
      var entities = [description]
      while let entity = entities.popLast() {
        if let type = UserInfo(entity.userInfo)["remoteType"] { names[type] = entity.name }
        entities += entity.subentities
      }
      self.init(key, names, parameter: inherited("remoteTypeParameter"))
    }
  }

  extension HTTPFilter {
    fileprivate init?(_ info: UserInfo) {
      self.init(
        info["remoteFilter"], oneOf: info["remoteFilterOneOf"], greater: info["remoteFilterGreater"],
        greaterOrEqual: info["remoteFilterGreaterOrEqual"], less: info["remoteFilterLess"],
        lessOrEqual: info["remoteFilterLessOrEqual"],
        noValue: info["remoteFilterNoValue"].flatMap(HTTPParameter.init(pair:)),
        anyValue: info["remoteFilterAnyValue"].flatMap(HTTPParameter.init(pair:)))
      if self == HTTPFilter() { return nil }
    }
  }

  extension HTTPParameter {
    /// A name and a value with `=` between them.
    fileprivate init?(pair: String) {
      let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard sides.count == 2, !sides[0].isEmpty else { return nil }
      self.init(String(sides[0]), String(sides[1]))
    }
  }

  extension HTTPAttribute {
    fileprivate init?(_ description: NSAttributeDescription) {
      let info = UserInfo(description.userInfo)
      guard let key = info["remoteKey"] else { return nil }
      let kind: Kind =
        switch description.attributeType {
        case .dateAttributeType: .date
        case .decimalAttributeType: .decimal
        case .binaryDataAttributeType: .data
        default: .plain
        }
      self.init(key, kind: kind, isReadOnly: info.isSet("remoteReadOnly"))
    }
  }

  extension HTTPRelationship {
    fileprivate init?(_ description: NSRelationshipDescription) {
      let info = UserInfo(description.userInfo)
      guard let destination = description.destinationEntity?.name else { return nil }
      if description.isToMany {
        guard info["remoteKey"] != nil || info["remotePath"] != nil else { return nil }
        self = .toMany(
          destination, key: info["remoteKey"], path: info["remotePath"], sentKey: info["remoteSentKey"],
          addedKey: info["remoteAddedKey"], removedKey: info["remoteRemovedKey"])
      } else {
        guard let key = info["remoteKey"] else { return nil }
        self = .toOne(
          destination, key: key, sentKey: info["remoteSentKey"], isReadOnly: info.isSet("remoteReadOnly"))
      }
    }
  }

  /// The texts of a user info.
  private struct UserInfo {
    let contents: [AnyHashable: Any]?

    init(_ contents: [AnyHashable: Any]?) { self.contents = contents }

    subscript(key: String) -> String? { contents?[key] as? String }

    func isSet(_ key: String) -> Bool { self[key] == "YES" }
  }
#endif
