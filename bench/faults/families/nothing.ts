import { defineFault } from './fault.ts';

export const nothing = defineFault({
  name: 'nothing',
  about: 'no fault: the baseline for the other rows',
  sees: 'Nothing.',
  does: 'Nothing.',
  harms: [],
  run: () => Promise.resolve(),
});
