import { runFindingsCommand } from '../doctor/findings-command.ts';
import { examineUpgrade } from './examine-upgrade.ts';

// Asked before the services that run are replaced by those of this version.
await runFindingsCommand({
  name: 'upgrade-check',
  description:
    'Says what happens when the services of this environment are replaced by those of this version; changes nothing. Exit: 0 nothing to do, 1 something to know first, 2 it does not work.',
  examine: examineUpgrade,
});
