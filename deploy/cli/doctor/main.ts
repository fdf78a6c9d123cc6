import { examine } from './examine.ts';
import { runFindingsCommand } from './findings-command.ts';
import { oneOfEach } from './memory-settings.ts';

// Finds what is wrong with this machine, its environment and the servers it names.
await runFindingsCommand({
  name: 'doctor',
  description:
    'Looks at this machine and at the servers its environment names, and says what to do. Exit: 0 well, 1 something to look at, 2 broken.',
  counts: [
    { flags: '--gateways <n>', meaning: 'gateways of this machine, whose memory is added up', byDefault: 1 },
    { flags: '--pipelines <n>', meaning: 'pipelines of this machine', byDefault: 1 },
    { flags: '--control-planes <n>', meaning: 'control planes of this machine', byDefault: 1 },
  ],
  examine: (env, deadlineMs, counts) => examine(env, deadlineMs, { ...oneOfEach, ...counts }),
});
