import { examine } from './examine.ts';
import { runFindingsCommand } from './findings-command.ts';

// Finds what is wrong with this machine, its environment and the servers it names.
await runFindingsCommand({
  name: 'doctor',
  description:
    'Looks at this machine and at the servers its environment names, and says what to do. Exit: 0 well, 1 something to look at, 2 broken.',
  examine,
});
