import ArgumentParser
import CairnInspection

struct CompletionsCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "completions",
    abstract: "Prints a script that completes kvdump's commands and options in a shell.",
    discussion: """
      Examples: kvdump completions bash > /etc/bash_completion.d/kvdump
                kvdump completions zsh > ~/.zfunc/_kvdump
                kvdump completions fish > ~/.config/fish/completions/kvdump.fish
      """)

  enum Shell: String, ExpressibleByArgument, CaseIterable {
    case bash, zsh, fish
  }

  @Argument(help: "The shell.")
  var shell: Shell

  func write(to output: inout Output) throws {
    let kind: CompletionShell =
      switch shell {
      case .bash: .bash
      case .zsh: .zsh
      case .fish: .fish
      }
    output.write(Kvdump.completionScript(for: kind))
    try output.endLine()
  }
}
