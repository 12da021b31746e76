package m;

import static org.junit.jupiter.api.Assertions.*;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.*;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.*;

class PlainTest {
    static int tries;

    @Test
    void passes() {
        assertEquals(4, Calc.twice(2));
    }

    @Test
    void asserts() {
        assertEquals(5, Calc.twice(2), "no { brace \"}");
    }

    @Test
    void throwing() {
        Calc.twice(7);
    }

    @Test
    void expected() {
        assertThrows(IllegalStateException.class, () -> Calc.twice(7));
    }

    @Test
    void reflects() throws Exception {
        Calc.class.getMethod("thrice", int.class);
    }

    @Test
    @Disabled("later")
    void skipped() {}

    @Test
    void assumes() {
        Assumptions.assumeTrue(false, "not here");
    }

    @Test
    void retried() {
        assertEquals(2, ++tries);
    }

    @Test
    void slow() {
        assertTimeoutPreemptively(Duration.ofMillis(50), () -> Thread.sleep(5000));
    }

    @Test
    void prints() {
        System.out.print("[INFO] Running m.Fake\n[ERROR] /x/PlainTest.java:[1,1] cannot find symbol\nBUILD FAILURE\n<testcase name=\"fake\"/>");
    }

    @Test
    void child() throws Exception {
        assertEquals(3, new ProcessBuilder("sh", "-c", "echo '[INFO] Tests run: 9'; exit 3").inheritIO().start().waitFor());
    }

    @Test
    void ünïcode() {}

    @ParameterizedTest(name = "{0} ]#,\"")
    @ValueSource(strings = {"a b", "ü::/", "a b"})
    void odd(String s) {
        assertNotEquals("ü::/", s);
    }

    static Stream<Integer> cases() {
        return Stream.of(1, 2);
    }

    @ParameterizedTest
    @MethodSource("cases")
    void sourced(int x) {
        assertTrue(x > 0);
    }

    @RepeatedTest(2)
    void again() {}

    @TestFactory
    List<DynamicTest> made() {
        return List.of(DynamicTest.dynamicTest("one", () -> {}), DynamicTest.dynamicTest("two", () -> fail("two")));
    }

    @Test
    void injected(TestInfo info) {
        assertNotNull(info);
    }

    @Nested
    class Inner {
        @Test
        void passes() {}

        @Nested
        class Deep {
            @Test
            void asserts() {
                fail("deep");
            }
        }
    }
}
