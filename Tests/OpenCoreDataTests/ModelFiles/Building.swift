import Foundation
import OpenCoreData

import class OpenCoreData.NSExpression

/// Short functions for making models in code.
func attribute(
  _ name: String, _ type: NSAttributeDescription.AttributeType, isOptional: Bool = true, defaultValue: Any? = nil,
  _ change: (NSAttributeDescription) -> Void = { _ in }
) -> NSAttributeDescription {
  let attribute = NSAttributeDescription()
  attribute.name = name
  attribute.type = type
  attribute.isOptional = isOptional
  attribute.defaultValue = defaultValue
  change(attribute)
  return attribute
}

func derived(
  _ name: String, _ type: NSAttributeDescription.AttributeType, from expression: String
) -> NSAttributeDescription {
  let attribute = NSDerivedAttributeDescription()
  attribute.name = name
  attribute.type = type
  attribute.derivationExpression = NSExpression(format: expression)
  return attribute
}

func composite(_ name: String, _ elements: [NSAttributeDescription]) -> NSAttributeDescription {
  let attribute = NSCompositeAttributeDescription()
  attribute.name = name
  attribute.elements = elements
  return attribute
}

func relationship(
  _ name: String, to destination: NSEntityDescription, isToMany: Bool = true,
  _ change: (NSRelationshipDescription) -> Void = { _ in }
) -> NSRelationshipDescription {
  let relationship = NSRelationshipDescription()
  relationship.name = name
  relationship.destinationEntity = destination
  relationship.maxCount = isToMany ? 0 : 1
  change(relationship)
  return relationship
}

/// Makes each the inverse of the other.
func connect(_ one: NSRelationshipDescription, _ other: NSRelationshipDescription) {
  one.inverseRelationship = other
  other.inverseRelationship = one
}

func index(
  _ name: String, _ properties: [NSPropertyDescription], _ type: NSFetchIndexElementType = .binary,
  isAscending: [Bool] = []
) -> NSFetchIndexDescription {
  let elements = properties.map { NSFetchIndexElementDescription(property: $0, collationType: type) }
  for (element, isAscending) in zip(elements, isAscending) { element.isAscending = isAscending }
  return NSFetchIndexDescription(name: name, elements: elements)
}

func entity(_ name: String, class className: String, fileID: String = #fileID) -> NSEntityDescription {
  let entity = NSEntityDescription(fileID: fileID)
  entity.name = name
  entity.managedObjectClassName = className
  return entity
}

func request(_ entity: NSEntityDescription, _ format: String) -> NSFetchRequest<any NSFetchRequestResult> {
  let request = NSFetchRequest<any NSFetchRequestResult>()
  request.entity = entity
  request.predicate = NSPredicate(format: format)
  return request
}
