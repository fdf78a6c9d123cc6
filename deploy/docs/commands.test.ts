import { expect, test } from 'vitest';
import { commandBlocks } from './testing/commands.ts';

test('commands: each block of a page is found with its line, and with the reason if the block is not run', () => {
  const page =
    '# Page\n\n```sh\necho 1\n```\n\n<!-- not run: needs Docker -->\n\n```sh\ndocker ps\n\ndocker images\n```\n\n```json\n{}\n```\n';
  expect(commandBlocks(page)).toEqual([
    { line: 3, text: 'echo 1', notRun: undefined },
    { line: 9, text: 'docker ps\n\ndocker images', notRun: 'needs Docker' },
  ]);
});
