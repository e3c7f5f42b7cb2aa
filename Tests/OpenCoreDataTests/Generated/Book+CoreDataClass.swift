// Written by modelgen for the entity Book. Changes will be lost.
// swift-format-ignore-file

import CoreData

#if canImport(Darwin)
  @objc(Book)
#endif
class Book: Publication {}
