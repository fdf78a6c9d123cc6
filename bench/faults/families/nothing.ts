import { defineFault } from './fault.ts';

export const nothing = defineFault({
  name: 'nothing',
  about: 'nothing goes wrong: what the other rows are to be held against',
  sees: 'Nothing.',
  does: 'Nothing.',
  harms: [],
  run: () => Promise.resolve(),
});
