// An expected problem, whose message is for the person who starts the command.
export class ComputerError extends Error {}
