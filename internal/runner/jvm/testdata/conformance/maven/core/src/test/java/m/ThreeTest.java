package m;

import junit.framework.TestCase;

public class ThreeTest extends TestCase {
    public void testPasses() {
        assertEquals(2, Calc.twice(1));
    }

    public void helper() {}
}
