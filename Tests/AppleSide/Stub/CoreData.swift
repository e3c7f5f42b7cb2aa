// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// Apple's Core Data as the stores see it: names and signatures, from Apple's public documentation. Nothing works.
@_exported public import Foundation
