package ng;

import static org.testng.Assert.*;

import org.testng.annotations.*;

public class GroupTest {
    @Test
    public void passes() {
        assertEquals(m.Calc.twice(2), 4);
    }

    @Test
    public void asserts() {
        assertEquals(m.Calc.twice(2), 5);
    }

    @DataProvider
    public Object[][] numbers() {
        return new Object[][] {{1}, {2}};
    }

    @Test(dataProvider = "numbers")
    public void each(int x) {
        assertEquals(x, 1);
    }

    @Test(dependsOnMethods = "asserts")
    public void depends() {}

    static final java.util.concurrent.CyclicBarrier both = new java.util.concurrent.CyclicBarrier(2);

    @Test(threadPoolSize = 2, invocationCount = 2, timeOut = 10000)
    public void together() throws Exception {
        both.await();
    }
}
