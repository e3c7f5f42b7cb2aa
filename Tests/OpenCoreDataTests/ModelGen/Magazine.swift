import CoreData

/// The entity says Category/Extension: the class itself is written by hand.
class Magazine: Publication {}
