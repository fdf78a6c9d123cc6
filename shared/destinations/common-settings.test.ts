import { describe, expect, it } from 'vitest';
import { SettingError } from './define.ts';
import { orderSetting } from './delivery-order.ts';
import { destinationKinds } from './registry.ts';

describe.each(destinationKinds.map((kind) => [kind.descriptor.id, kind] as const))('%s', (_id, kind) => {
  it('order: is offered, kept by default, and read', () => {
    expect(kind.descriptor.settings.filter(({ key }) => key === 'order')).toEqual([orderSetting]);
    expect(kind.prepare(kind.exampleSettings).order).toBe('visitor');
    expect(kind.prepare({ ...kind.exampleSettings, order: 'none' }).order).toBe('none');
  });

  it('order: what it is not is refused, naming it', () => {
    for (const order of ['None', 'strict', 7, {}]) {
      const prepare = () => kind.prepare({ ...kind.exampleSettings, order });
      expect(prepare).toThrow(SettingError);
      expect(prepare).toThrow('settings.order');
    }
  });
});
