// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// The parts of Apple's Core Data that the stores use: names and signatures only, from Apple's public documentation.
// Nothing is implemented.
@_exported public import Foundation
