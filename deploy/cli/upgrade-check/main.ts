import { runFindingsCommand } from '../doctor/findings-command.ts';
import { examineUpgrade } from './examine-upgrade.ts';

// For operators to run before they replace the services by this version.
await runFindingsCommand({
  name: 'upgrade-check',
  description:
    'Shows what an upgrade of the services of this environment to this version needs; changes nothing. Exit: 0 nothing to do, 1 warnings, 2 the upgrade would fail.',
  examine: examineUpgrade,
});
