// What a program needs that imports only this module.
@_exported public import Cairn
