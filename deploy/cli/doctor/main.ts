import { examine } from './examine.ts';
import { runFindingsCommand } from './findings-command.ts';
import { oneOfEach } from './memory-settings.ts';

// Diagnoses this machine, its environment and the servers in it.
await runFindingsCommand({
  name: 'doctor',
  description:
    'Checks this machine and the servers that its environment names, and advises. Exit: 0 all is well, 1 warnings, 2 something is broken.',
  counts: [
    { flags: '--gateways <n>', meaning: 'gateways of this machine, whose memory is added up', byDefault: 1 },
    { flags: '--pipelines <n>', meaning: 'pipelines of this machine', byDefault: 1 },
    { flags: '--control-planes <n>', meaning: 'control planes of this machine', byDefault: 1 },
  ],
  examine: (env, deadlineMs, counts) => examine(env, deadlineMs, { ...oneOfEach, ...counts }),
});
